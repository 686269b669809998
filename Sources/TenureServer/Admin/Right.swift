import TenureStore

/// What a key may do.
enum Right: String, Sendable, Hashable, CaseIterable {
    /// Find customers, see what they have and why, and what happened.
    case read
    /// Grant and revoke.
    case support
    /// Link and unlink the app's users.
    case link
    /// Merge customers, and undo it.
    case merge
    case export
    case erase
    /// Read the audit trail.
    case audit
    /// Make, list and revoke personas.
    case persona
    /// See the policy's versions, and rehearse.
    case policies
    /// Let another policy decide.
    case publish
}

extension StoredAdminKey.Scope {
    /// The one table of scopes.
    var rights: Set<Right> {
        switch self {
        case .admin: Set(Right.allCases)
        case .support: [.read, .support, .link, .merge, .export]
        case .link: [.link]
        case .read: [.read]
        case .policy: [.persona, .policies, .publish]
        }
    }
}
