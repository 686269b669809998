import Foundation
import TenureAppStore
import TenureCore
import Testing

/// Receipts of real customers and of Apple. Only some machines have them, beside the repository.
private enum RealArtifact: String {
    case mac = "receipts/mindnode_mac_sha256_receipt"
    case sandbox = "receipts/purchasing_experiments_sandbox_receipt.b64"
    case noReceipt = "receipts/not_a_receipt"
    case xcode = "apple-fixtures/xcode-app-receipt-with-transaction"

    private var url: URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../shared/real/" + rawValue).standardizedFileURL
    }

    static let areHere = FileManager.default.fileExists(atPath: mac.url.path)

    var bytes: [UInt8] { get throws { Array(try Data(contentsOf: url)) } }
}

@Suite(.enabled(if: RealArtifact.areHere, "needs the artifacts in `../shared/real`"))
struct RealReceiptTests {
    let verifier = AppStoreVerifier(app: AppIdentity(), trust: .appStore)

    @Test func `a genuine Mac receipt is verified under Apple's roots`() throws {
        let receipt = try verifier.verifyReceipt(receiptBytes(file: RealArtifact.mac.bytes), now: .now)
        #expect(receipt.environment == .production)
        #expect(receipt.status == .verified)
        #expect(receipt.certificates.count == 3)
        #expect(receipt.payload.originalAppVersion == "5.0")
        #expect(receipt.payload.appVersion == "2023.2.2")
        #expect(receipt.proof.originalAppVersion == "5.0")
        #expect(receipt.proof.originalPlatform == nil)
        #expect(receipt.proof.id != nil)
        #expect(receipt.proof.originalPurchaseDate != nil)
    }

    @Test func `a genuine sandbox receipt signed with SHA-1 is verified, and its purchases are read`() throws {
        let receipt = try verifier.verifyReceipt(receiptBytes(file: RealArtifact.sandbox.bytes), now: .now)
        #expect(receipt.environment == .sandbox)
        #expect(receipt.payload.originalAppVersion == "1.0")
        #expect(receipt.payload.originalPurchaseDate == Date(timeIntervalSince1970: 1_375_340_400))
        #expect(receipt.purchases.count == 2)
        #expect(receipt.purchases.allSatisfy { $0.purchaseDate != nil && $0.type != nil })
        // Receipts of the sandbox have no download ID.
        #expect(receipt.proof.id == nil)
    }

    @Test func `no attribute of a genuine receipt is unknown or unreadable`() throws {
        for artifact in [RealArtifact.mac, .sandbox] {
            let receipt = try verifier.verifyReceipt(receiptBytes(file: artifact.bytes), now: .now)
            #expect(receipt.payload.fields.unreadable == [])
        }
    }

    @Test func `a receipt for another app is refused`() throws {
        let verifier = AppStoreVerifier(app: AppIdentity(bundleID: "com.example.calculator"), trust: .appStore)
        let bytes = try receiptBytes(file: RealArtifact.mac.bytes)
        #expect(throws: Rejection.self) { try verifier.verifyReceipt(bytes, now: .now) }
    }

    @Test func `a real file that isn't a receipt is refused`() throws {
        let bytes = try RealArtifact.noReceipt.bytes
        #expect(ReceiptEncoding(recognizing: bytes) == nil)
        #expect(throws: Rejection.self) { try receiptBytes(file: bytes) }
    }

    @Test func `Xcode's receipt is refused if Xcode's certificate isn't configured`() throws {
        let bytes = try receiptBytes(file: RealArtifact.xcode.bytes)
        let rejection = #expect(throws: Rejection.self) { try verifier.verifyReceipt(bytes, now: .now) }
        #expect(rejection?.code == .untrustedChain)
    }

    @Test func `Xcode's receipt is verified as local if Xcode's certificate is configured`() throws {
        let bytes = try receiptBytes(file: RealArtifact.xcode.bytes)
        // In this receipt, the certificate is in bytes 442 to 1329.
        let trust = try TrustConfiguration(anchors: [.xcode: TrustAnchors(der: [Array(bytes[442..<1330])])])
        let receipt = try AppStoreVerifier(app: AppIdentity(), trust: trust).verifyReceipt(bytes, now: .now)
        #expect(receipt.status == .local)
        #expect(receipt.environment == .xcode)
        #expect(receipt.payload.originalAppVersion == nil)
        #expect(receipt.purchases.count == 1)
        #expect(receipt.proof.expirationDate == nil)
    }
}

extension [ReceiptField] {
    fileprivate var unreadable: [String] {
        flatMap { field -> [String] in
            switch field.value {
            case .malformed: [field.name]
            case .fields(let fields): fields.unreadable
            default:
                field.name.hasPrefix("attribute_") && ReceiptAttributeNumbers.known.contains(field.type) == false
                    ? [field.name] : []
            }
        }
    }
}

private enum ReceiptAttributeNumbers {
    static let known = Set(ReceiptAttribute.allCases.map(\.rawValue))
}
