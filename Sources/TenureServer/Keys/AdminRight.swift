import TenureStore

/// What an admin key may do.
enum AdminRight: String, Sendable, Hashable, CaseIterable {
    /// Find customers, and read their decisions and timelines.
    case read
    /// Grant and revoke entitlements.
    case support
    /// Link customers to users of the app's own accounts, and unlink them.
    case link
    /// Merge customers, and undo merges.
    case merge
    /// Export everything that is stored about a customer.
    case export
    /// Erase a customer.
    case erase
    /// Read the audit trail.
    case audit
    /// Create, list and revoke personas, the test customers for sandbox builds.
    case persona
    /// Read the policy's versions, and rehearse a new one: find out what it would change for the stored customers.
    case policies
    /// Publish a policy, or roll it back.
    case publish
}

extension StoredAdminKey.Scope {
    /// The rights of keys with this scope.
    var rights: Set<AdminRight> {
        switch self {
        case .admin: Set(AdminRight.allCases)
        case .support: [.read, .support, .link, .merge, .export]
        case .link: [.link]
        case .read: [.read]
        case .policy: [.persona, .policies, .publish]
        }
    }
}
