/// All known attributes of an app receipt: their numbers, names, encodings, and how strictly they are read. The parser,
/// the code that creates test receipts, and the code that shows receipts use this table.
///
/// Attributes below 1000 are about the app. All others are about one in-app purchase, inside attribute 17.
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
        /// An IA5String with an RFC 3339 date. The string is empty if there is no date.
        case date
        case integer
        /// The INTEGER 0 or 1.
        case boolean
        /// A SET of attributes, in the same format as the app's attributes. In-app purchases have this encoding.
        case attributes
    }

    /// How strictly an attribute is read.
    package enum Reading: Sendable, Hashable {
        /// Decisions depend on the attribute. The attribute may occur once, and an unreadable value makes the receipt
        /// malformed.
        case strict
        /// Like `strict`. In addition, a receipt or purchase without the attribute is malformed.
        case required
        /// The attribute may occur once. An unreadable value is treated as missing.
        case once
        /// Like `strict`, but the attribute may occur several times.
        case repeated
        /// The attribute is undocumented, or no decision depends on it. The attribute may occur several times, and the
        /// first counts. An unreadable value is treated as missing.
        case lenient

        /// Whether an unreadable value makes the receipt malformed.
        var refusesUnreadable: Bool { self == .strict || self == .required || self == .repeated }
    }

    /// What the table says about the attribute.
    private var row: (name: String, encoding: Encoding, reading: Reading) {
        switch self {
        case .receiptType: ("receipt_type", .utf8String, .required)
        case .appAppleID: ("app_item_id", .integer, .lenient)
        case .bundleID: ("bundle_id", .utf8String, .required)
        case .appVersion: ("application_version", .utf8String, .strict)
        case .opaqueValue: ("opaque_value", .raw, .strict)
        case .sha1Hash: ("sha1_hash", .raw, .strict)
        case .unknown6: ("attribute_6", .raw, .lenient)
        case .unknown7: ("attribute_7", .raw, .lenient)
        case .downloadDate: ("download_date", .date, .lenient)
        case .fulfillmentToolVersion: ("fulfillment_tool_version", .integer, .lenient)
        case .ageRating: ("age_rating", .ia5String, .lenient)
        case .developerID: ("developer_id", .integer, .lenient)
        case .creationDate: ("receipt_creation_date", .date, .once)
        case .osVersion: ("os_version", .integer, .lenient)
        case .receiptServiceBuild: ("receipt_service_build", .integer, .lenient)
        case .downloadID: ("download_id", .integer, .strict)
        case .versionExternalIdentifier: ("version_external_identifier", .integer, .lenient)
        case .inAppPurchase: ("in_app", .attributes, .repeated)
        case .originalPurchaseDate: ("original_purchase_date", .date, .strict)
        case .originalAppVersion: ("original_application_version", .utf8String, .strict)
        case .unknown20: ("attribute_20", .utf8String, .lenient)
        case .expirationDate: ("expiration_date", .date, .strict)
        case .volumePurchaseDate: ("volume_purchase_date", .date, .lenient)
        case .volumePurchaseOrganization: ("volume_purchase_organization", .utf8String, .lenient)
        case .platformCode: ("platform_code", .integer, .lenient)
        case .preorderDate: ("preorder_date", .date, .lenient)

        case .quantity: ("quantity", .integer, .lenient)
        case .productID: ("product_id", .utf8String, .required)
        case .transactionID: ("transaction_id", .utf8String, .required)
        case .purchaseDate: ("purchase_date", .date, .strict)
        case .originalTransactionID: ("original_transaction_id", .utf8String, .strict)
        case .originalTransactionPurchaseDate: ("original_purchase_date", .date, .lenient)
        case .productType: ("product_type", .integer, .strict)
        case .expiresDate: ("expires_date", .date, .strict)
        case .unknown1709: ("attribute_1709", .utf8String, .lenient)
        case .productAppleID: ("product_apple_id", .integer, .lenient)
        case .webOrderLineItemID: ("web_order_line_item_id", .integer, .lenient)
        case .cancellationDate: ("cancellation_date", .date, .strict)
        case .isTrialPeriod: ("is_trial_period", .boolean, .lenient)
        case .unknown1714: ("attribute_1714", .utf8String, .lenient)
        case .unknown1715: ("attribute_1715", .utf8String, .lenient)
        case .unknown1716: ("attribute_1716", .utf8String, .lenient)
        case .unknown1717: ("attribute_1717", .utf8String, .lenient)
        case .unknown1718: ("attribute_1718", .utf8String, .lenient)
        case .isInIntroOfferPeriod: ("is_in_intro_offer_period", .boolean, .lenient)
        case .cancellationReason: ("cancellation_reason", .integer, .lenient)
        case .promotionalOfferID: ("promotional_offer_id", .utf8String, .lenient)
        case .unknown1722: ("attribute_1722", .integer, .lenient)
        }
    }

    /// The JSON key in `verifyReceipt`. If `verifyReceipt` has no key, a name of Tenure in the same style.
    package var name: String { row.name }
    package var encoding: Encoding { row.encoding }
    package var reading: Reading { row.reading }

    /// Whether the attribute is about an in-app purchase, and not about the app.
    package var isInApp: Bool { rawValue > 1000 }

    /// The attribute's bit in the set of attributes that were already read, of the app or of one in-app purchase. The
    /// set detects repeated attributes.
    var bit: UInt64 { 1 << UInt64(isInApp ? rawValue - 1701 : rawValue) }

    /// Finds the attribute with this name, among the attributes of the app or of an in-app purchase.
    package init?(named name: String, inApp: Bool) {
        // `verifyReceipt` writes the app's Apple ID as `adam_id` and as `app_item_id`.
        let name = !inApp && name == "adam_id" ? "app_item_id" : name
        guard let attribute = Self.allCases.first(where: { $0.isInApp == inApp && $0.name == name }) else { return nil }
        self = attribute
    }
}
