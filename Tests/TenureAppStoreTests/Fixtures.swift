import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import Testing

/// One authority for all tests, because creating RSA keys takes time.
enum Minted {
    static let authority: TestAuthority = {
        do {
            return try TestAuthority()
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()

    /// 2026-11-20T12:00:00Z
    static let instant = Date(timeIntervalSince1970: 1_795_176_000)

    static let minter = JWSMinter(authority: authority, signedAt: instant)

    static let app = AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134)

    static func verifier(app: AppIdentity = app, anchors: TrustAnchors? = nil) throws -> AppStoreVerifier {
        AppStoreVerifier(app: app, trust: try TrustConfiguration(anchors: [.production: anchors ?? authority.anchors]))
    }
}

/// Real artifacts, and Apple's own fixtures. Only some machines have them, beside the repository.
enum Real {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("shared/real")

    static let isPresent = FileManager.default.fileExists(atPath: folder.path)

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    /// Reads a JWS from a file, without the newline at the file's end.
    static func jws(_ path: String) throws -> [UInt8] {
        try bytes(path).filter { $0 > 0x20 }
    }
}

/// The rejection that `body` throws. If it throws none, the test fails.
func rejection<Value>(
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Value
) -> Rejection? {
    do {
        let value = try body()
        Issue.record("\(comment?.rawValue ?? "it") was accepted: \(value)", sourceLocation: sourceLocation)
        return nil
    } catch let rejection as Rejection {
        return rejection
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return nil
    }
}

extension AppStoreVerifier {
    /// Verifies the text as an artifact of `kind`, and returns its environment.
    func verify(_ jws: [UInt8], as kind: JWSKind, now: Date?) throws -> VerificationStatus {
        switch kind {
        case .appTransaction: try verifyAppTransaction(jws, now: now).status
        case .transaction: try verifyTransaction(jws, now: now).status
        case .renewalInfo: try verifyRenewalInfo(jws, now: now).status
        case .notification: try verifyNotification(jws, now: now).notification.status
        case .realtime: throw MintingError("not read")
        }
    }

    static let kinds: [JWSKind] = [.appTransaction, .transaction, .renewalInfo, .notification]
}
