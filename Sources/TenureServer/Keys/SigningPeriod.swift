package import Foundation

/// How long the key in use may sign, according to the offline root's statement.
package enum SigningPeriod: Sendable, Hashable {
    /// There is no offline root.
    case unlimited
    case until(Date)
    /// There is an offline root, but the root hasn't signed this key.
    case notSigned
    /// Another process that uses the same database has a newer key, so this key signs nothing anymore.
    case outdated

    func contains(_ now: Date) -> Bool {
        switch self {
        case .unlimited: true
        case .until(let end): now < end
        case .notSigned, .outdated: false
        }
    }
}
