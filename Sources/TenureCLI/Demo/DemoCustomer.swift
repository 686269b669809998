import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint

/// An invented customer, with the artifacts that the App Store would have signed.
struct DemoCustomer: Sendable {
    let name: String
    /// What the customer did, as the demo prints it after the name.
    let story: String
    /// The request with which the customer's app syncs.
    let request: SyncRequest

    /// Returns all customers of the demo, who are the same in every run.
    static func all(of app: Policy.App, signedBy authority: TestAuthority, now: Date) throws -> [DemoCustomer] {
        var minter = DemoMinter(app: app, authority: authority, now: now)
        return try [
            minter.customer(
                "Ada", "bought the app in May 2014, as build 37, on her iPhone", version: "37",
                bought: "2014-05-01T10:00:00Z"),
            minter.customer(
                "Boris", "bought version 1.9 on his Mac in March 2026", version: "1.9", bought: "2026-03-05T10:00:00Z",
                platform: "macOS"),
            minter.customer(
                "Chen", "paid the old price two hours after the change, and got the new build", version: "120",
                bought: "2026-10-01T18:00:00Z"),
            minter.customer(
                "Dana", "got the free app in November 2026", version: "121", bought: "2026-11-14T10:00:00Z"),
            minter.customer(
                "Emre", "got the free app too, and subscribed", version: "121", bought: "2026-11-14T11:00:00Z",
                subscribes: true),
            minter.customer(
                "Fay", "bought the app in 2024 and got a refund", version: "88", bought: "2024-02-01T10:00:00Z",
                refunded: "2024-02-03T10:00:00Z"),
            minter.ownerOfOldReceipt("Gus", "has only a receipt of 2012, which contains no version"),
            minter.customer(
                "Hana", "tests the app in TestFlight, where every version is \"1.0\"", version: "1.0",
                bought: "2013-08-01T07:00:00Z", environment: .sandbox),
        ]
    }
}

/// Creates the invented customers, with artifacts that the test authority signs. Each customer has a separate account
/// and device.
private struct DemoMinter {
    let app: Policy.App
    let authority: TestAuthority
    let now: Date
    /// The number of customers so far.
    var count: UInt8 = 0

    /// Creates a customer with an app transaction, and with a subscription if `subscribes` is true.
    ///
    /// - Parameter version: the version of the app that the customer got first; on iOS, a build number.
    mutating func customer(
        _ name: String, _ story: String, version: String, bought: String, platform: String = "iOS",
        subscribes: Bool = false, refunded: String? = nil, environment: AppStoreEnvironment = .production
    ) throws -> DemoCustomer {
        let mintedApp = nextApp(in: environment)
        let minter = JWSMinter(authority: authority, app: mintedApp, signedAt: now)
        func mint(_ kind: JWSKind, _ fields: KeyValuePairs<String, String>) throws -> String {
            var payload = try minter.payload(of: kind)
            for (field, value) in fields { payload = try kind.setting(field, to: value, in: payload) }
            return String(decoding: try minter.mint(payload: payload), as: UTF8.self)
        }
        // Each customer has other last digits. Counting from 10 keeps the length of the IDs.
        let (id, transactionID) = ("7040000000000000\(10 + count)", "4100000000000\(10 + count)")
        // An empty `revocationDate` removes the field.
        let appTransaction = try mint(
            .appTransaction,
            [
                "appTransactionId": id, "originalApplicationVersion": version, "originalPurchaseDate": bought,
                "originalPlatform": platform, "revocationDate": refunded ?? "",
            ])
        var request = SyncRequest(
            appTransaction: appTransaction, transactions: [],
            deviceVerificationID: mintedApp.deviceVerificationID.uuidString)
        if subscribes {
            let purchase = try mint(
                .transaction,
                [
                    "appTransactionId": id, "productId": "com.example.calculator.yearly",
                    "type": "Auto-Renewable Subscription", "purchaseDate": "2026-11-14T11:05:00Z",
                    "expiresDate": "2027-11-14T11:05:00Z", "transactionId": transactionID,
                    "originalTransactionId": transactionID,
                ])
            request.transactions = [purchase]
        }
        return DemoCustomer(name: name, story: story, request: request)
    }

    /// Creates a customer with a receipt of 2012, which has a purchase date but no version.
    mutating func ownerOfOldReceipt(_ name: String, _ story: String) throws -> DemoCustomer {
        let mintedApp = nextApp(in: .production)
        let signed = Date(written: "2012-10-03T09:00:00Z") ?? now
        let minter = ReceiptMinter(authority: authority, app: mintedApp, signedAt: signed)
        let receipt = try minter.mint { draft in
            try draft.set("original_application_version", to: "")
            try draft.set("original_purchase_date", to: "2012-10-01T09:00:00Z")
            try draft.set("download_id", to: "50000000000001")
            draft.purchases = []
        }
        let request = SyncRequest(
            transactions: [], receipt: Data(receipt).base64EncodedString(),
            deviceVerificationID: mintedApp.deviceVerificationID.uuidString)
        return DemoCustomer(name: name, story: story, request: request)
    }

    /// Returns the app as the next customer has it: with a device ID that no earlier customer has.
    private mutating func nextApp(in environment: AppStoreEnvironment) -> MintedApp {
        count += 1
        // The last byte of the device ID is the number of the customer. 0x40 and 0x80 mark a random UUID (version 4).
        return MintedApp(
            bundleID: app.bundleID, appAppleID: app.appleID ?? 0, environment: environment,
            deviceVerificationID: UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, count)))
    }
}
