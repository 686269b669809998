package import TenureCore

/// The authority that signed a customer's artifacts: an environment of the App Store, or a test authority that replaces
/// it.
///
/// Data of different realms is never combined. So data from a test authority grants nothing once the service runs with
/// Apple's roots only.
package struct Realm: Sendable, Hashable {
    package let environment: AppStoreEnvironment
    /// Whether the trust anchor isn't one of Apple's roots.
    package let isTest: Bool

    package init(_ environment: AppStoreEnvironment, isTest: Bool = false) {
        self.environment = environment
        self.isTest = isTest
    }

    /// The number of the realm in the database and in access tokens. Never reuse a number.
    package var code: UInt8 { environment.code | (isTest ? Self.testBit : 0) }

    /// Returns nil for a number that no realm has; otherwise the realm with this number.
    package init?(code: UInt8) {
        let environment = AppStoreEnvironment.allCases.first { $0.code == code & ~Self.testBit }
        guard let environment else { return nil }
        self.init(environment, isTest: code & Self.testBit != 0)
    }

    private static let testBit: UInt8 = 0x10
}

extension AppStoreEnvironment {
    fileprivate var code: UInt8 {
        switch self {
        case .production: 0
        case .sandbox: 1
        case .xcode: 2
        }
    }
}
