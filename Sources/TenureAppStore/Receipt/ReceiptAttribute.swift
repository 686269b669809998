/// All known attributes of an app receipt: their numbers, names, encodings, and how strictly they are read. The parser,
/// the code that creates test receipts, and the code that shows receipts use this table.
///
/// Attributes below 1000 are about the app. The others are about one in-app purchase, inside attribute 17.
package enum ReceiptAttribute: Int32, CaseIterable, Sendable {
    case receiptType = 0
    case appAppleID = 1
    case bundleID = 2
    case appVersion = 3
    case opaqueValue = 4
    case sha1Hash = 5
    case unknown6 = 6
    case unknown7 = 7
    case downloadDate = 8
    case fulfillmentToolVersion = 9
    case ageRating = 10
    case developerID = 11
    case creationDate = 12
    case osVersion = 13
    case receiptServiceBuild = 14
    case downloadID = 15
    case versionExternalIdentifier = 16
    case inAppPurchase = 17
    case originalPurchaseDate = 18
    case originalAppVersion = 19
    case unknown20 = 20
    case expirationDate = 21
    case volumePurchaseDate = 22
    case volumePurchaseOrganization = 23
    case platformCode = 25
    case preorderDate = 32

    case quantity = 1701
    case productID = 1702
    case transactionID = 1703
    case purchaseDate = 1704
    case originalTransactionID = 1705
    case originalTransactionPurchaseDate = 1706
    case productType = 1707
    case expiresDate = 1708
    case unknown1709 = 1709
    case productAppleID = 1710
    case webOrderLineItemID = 1711
    case cancellationDate = 1712
    case isTrialPeriod = 1713
    case unknown1714 = 1714
    case unknown1715 = 1715
    case unknown1716 = 1716
    case unknown1717 = 1717
    case unknown1718 = 1718
    case isInIntroOfferPeriod = 1719
    case cancellationReason = 1720
    case promotionalOfferID = 1721
    case unknown1722 = 1722

    /// How the value is encoded in the attribute's octet string.
    package enum Encoding: Sendable, Hashable {
        /// The octets are the value, without ASN.1.
        case raw
        case utf8String
        case ia5String
        /// An IA5String with an RFC 3339 date. It is empty if there is no date.
        case date
        case integer
        /// The INTEGER 0 or 1.
        case boolean
        /// A SET of attributes, as the app's own. In-app purchases have this encoding.
        case attributes
    }

    /// How strictly an attribute is read.
    package enum Reading: Sendable, Hashable {
        /// Decisions depend on the attribute. It may occur once, and an unreadable value makes the receipt malformed.
        case strict
        /// Like `strict`. In addition, a receipt or purchase without the attribute is malformed.
        case required
        /// The attribute may occur once. An unreadable value is treated as missing.
        case once
        /// Like `strict`, but the attribute may occur several times.
        case repeated
        /// The attribute is undocumented, or no decision depends on it. An unreadable value is shown as bytes.
        case lenient

        /// Whether an unreadable value makes the receipt malformed.
        var refusesUnreadable: Bool {
            switch self {
            case .strict, .required, .repeated: true
            case .once, .lenient: false
            }
        }
    }

    /// What the table says about one attribute.
    package struct Row: Sendable {
        /// The JSON key in `verifyReceipt`. If `verifyReceipt` has no key, a name of Tenure in the same style.
        package let name: String
        /// The name in Apple's documentation or field lists.
        let appleName: String
        package let encoding: Encoding
        package let reading: Reading

        init(_ name: String, _ appleName: String, _ encoding: Encoding, _ reading: Reading) {
            self.name = name
            self.appleName = appleName
            self.encoding = encoding
            self.reading = reading
        }
    }

    /// The attribute's row of the table.
    package var row: Row {
        switch self {
        case .receiptType: Row("receipt_type", "Receipt Type", .utf8String, .required)
        case .appAppleID: Row("app_item_id", "App Item ID", .integer, .lenient)
        case .bundleID: Row("bundle_id", "Bundle Identifier", .utf8String, .required)
        case .appVersion: Row("application_version", "App Version", .utf8String, .strict)
        case .opaqueValue: Row("opaque_value", "Opaque Value", .raw, .strict)
        case .sha1Hash: Row("sha1_hash", "SHA-1 Hash", .raw, .strict)
        case .unknown6: Row("attribute_6", "Attribute 6", .raw, .lenient)
        case .unknown7: Row("attribute_7", "Attribute 7", .raw, .lenient)
        case .downloadDate: Row("download_date", "Download Date", .date, .lenient)
        case .fulfillmentToolVersion: Row("fulfillment_tool_version", "Fulfillment Tool Version", .integer, .lenient)
        case .ageRating: Row("age_rating", "Age Rating", .ia5String, .lenient)
        case .developerID: Row("developer_id", "Developer ID", .integer, .lenient)
        case .creationDate: Row("receipt_creation_date", "Receipt Creation Date", .date, .once)
        case .osVersion: Row("os_version", "OS Version", .integer, .lenient)
        case .receiptServiceBuild: Row("receipt_service_build", "Receipt Service Build", .integer, .lenient)
        case .downloadID: Row("download_id", "Download ID", .integer, .strict)
        case .versionExternalIdentifier:
            Row("version_external_identifier", "Version External Identifier", .integer, .lenient)
        case .inAppPurchase: Row("in_app", "In-App Purchase Receipt", .attributes, .repeated)
        case .originalPurchaseDate: Row("original_purchase_date", "Original Purchase Date", .date, .strict)
        case .originalAppVersion:
            Row("original_application_version", "Original Application Version", .utf8String, .strict)
        case .unknown20: Row("attribute_20", "Attribute 20", .utf8String, .lenient)
        case .expirationDate: Row("expiration_date", "Receipt Expiration Date", .date, .strict)
        case .volumePurchaseDate: Row("volume_purchase_date", "Volume Purchase Date", .date, .lenient)
        case .volumePurchaseOrganization:
            Row("volume_purchase_organization", "Volume Purchase Organization", .utf8String, .lenient)
        case .platformCode: Row("platform_code", "Platform Code", .integer, .lenient)
        case .preorderDate: Row("preorder_date", "Preorder Date", .date, .lenient)

        case .quantity: Row("quantity", "Quantity", .integer, .lenient)
        case .productID: Row("product_id", "Product Identifier", .utf8String, .required)
        case .transactionID: Row("transaction_id", "Transaction Identifier", .utf8String, .required)
        case .purchaseDate: Row("purchase_date", "Purchase Date", .date, .strict)
        case .originalTransactionID:
            Row("original_transaction_id", "Original Transaction Identifier", .utf8String, .strict)
        case .originalTransactionPurchaseDate:
            Row("original_purchase_date", "Original Purchase Date", .date, .lenient)
        case .productType: Row("product_type", "Product Type", .integer, .strict)
        case .expiresDate: Row("expires_date", "Subscription Expiration Date", .date, .strict)
        case .unknown1709: Row("attribute_1709", "Attribute 1709", .utf8String, .lenient)
        case .productAppleID: Row("product_apple_id", "Product Apple ID", .integer, .lenient)
        case .webOrderLineItemID: Row("web_order_line_item_id", "Web Order Line Item ID", .integer, .lenient)
        case .cancellationDate: Row("cancellation_date", "Cancellation Date", .date, .strict)
        case .isTrialPeriod: Row("is_trial_period", "Subscription Trial Period", .boolean, .lenient)
        case .unknown1714: Row("attribute_1714", "Attribute 1714", .utf8String, .lenient)
        case .unknown1715: Row("attribute_1715", "Attribute 1715", .utf8String, .lenient)
        case .unknown1716: Row("attribute_1716", "Attribute 1716", .utf8String, .lenient)
        case .unknown1717: Row("attribute_1717", "Attribute 1717", .utf8String, .lenient)
        case .unknown1718: Row("attribute_1718", "Attribute 1718", .utf8String, .lenient)
        case .isInIntroOfferPeriod:
            Row("is_in_intro_offer_period", "Subscription Introductory Price Period", .boolean, .lenient)
        case .cancellationReason: Row("cancellation_reason", "Cancellation Reason", .integer, .lenient)
        case .promotionalOfferID: Row("promotional_offer_id", "Promotional Offer ID", .utf8String, .lenient)
        case .unknown1722: Row("attribute_1722", "Attribute 1722", .integer, .lenient)
        }
    }

    package var name: String { row.name }
    package var encoding: Encoding { row.encoding }
    package var reading: Reading { row.reading }

    /// Whether the attribute is about an in-app purchase, and not about the app.
    package var isInApp: Bool { rawValue > 1000 }

    /// A bit that identifies the attribute among those of its level, to detect repetitions.
    var bit: UInt64 { 1 << UInt64(isInApp ? rawValue - 1701 : rawValue) }

    /// Finds the attribute with this name, among those of the app or of an in-app purchase.
    package init?(named name: String, inApp: Bool) {
        // `verifyReceipt` also uses the name `adam_id` for this attribute.
        let name = !inApp && name == "adam_id" ? "app_item_id" : name
        guard let found = Self.allCases.first(where: { $0.isInApp == inApp && $0.name == name }) else { return nil }
        self = found
    }
}
