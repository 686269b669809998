/// Why the access group (an App Group in which the app and its extensions share the state) can't be used.
enum AccessGroupError: Error, Sendable, Hashable {
    /// The app's entitlements don't contain the group.
    case missing(String)
    /// The text isn't a valid name of a group.
    case invalidName(String)
    /// An App Clip can't share its keychain.
    case appClip
}

extension AccessGroupError: CustomStringConvertible {
    var description: String { "\(problem); \(recovery)" }

    /// The description without the fix.
    var problem: String {
        switch self {
        case .missing(let group): "the app has no access group `\(group)`"
        case .invalidName(let group): "`\(group)` isn't the name of an access group"
        case .appClip: "an App Clip can't share a keychain"
        }
    }

    private var recovery: String {
        switch self {
        case .missing: "add the group to the App Groups of the app and of each extension"
        case .invalidName: "use letters, digits, periods and hyphens, such as `group.com.example.app`"
        case .appClip: "leave `Options.accessGroup` unset in the App Clip"
        }
    }
}
