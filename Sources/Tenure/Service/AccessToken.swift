import Foundation

/// Opens the service's interface for a while.
struct AccessToken: Sendable, Hashable {
    let value: String
    /// By this device's clock.
    let expiresAt: Date
}
