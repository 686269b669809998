import Foundation
import TenureAppStore
import TenureCore
import TenureMint

/// The authority and the app of these tests. All tests share them, because creating RSA keys takes time.
enum ReceiptTestBed {
    private static let sharedAuthority = Result { try TestAuthority() }

    static var authority: TestAuthority { get throws { try sharedAuthority.get() } }

    /// 2026-11-20T12:00:00Z
    static let instant = Date(timeIntervalSince1970: 1_795_176_000)

    static func minter(_ environment: AppStoreEnvironment = .production) throws -> ReceiptMinter {
        var app = MintedApp()
        app.environment = environment
        return ReceiptMinter(authority: try authority, app: app, signedAt: instant)
    }

    static func verifier(
        _ environments: Set<AppStoreEnvironment> = [.production],
        bundleID: String? = "com.example.calculator",
        trusting anchors: TrustAnchors? = nil
    ) throws -> AppStoreVerifier {
        var trusted: [AppStoreEnvironment: TrustAnchors] = [:]
        for environment in environments {
            trusted[environment] = try environment == .xcode ? authority.xcodeAnchors : anchors ?? authority.anchors
        }
        return AppStoreVerifier(app: AppIdentity(bundleID: bundleID), trust: try TrustConfiguration(anchors: trusted))
    }

    /// The rejection; nil if the receipt is accepted.
    static func rejection(
        of receipt: [UInt8], by verifier: AppStoreVerifier? = nil, now: Date? = instant
    ) throws -> Rejection? {
        let verifier = try verifier ?? Self.verifier()
        do {
            _ = try verifier.verifyReceipt(receipt, now: now)
            return nil
        } catch {
            return error
        }
    }
}
