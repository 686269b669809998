/// Why the access group (an App Group in which the app and its extensions share the state) can't be used.
struct AccessGroupError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The description without the fix.
    let problem: String
    private let recovery: String

    var description: String { "\(problem); \(recovery)" }

    /// The app's entitlements don't contain the group.
    static func missing(_ group: String) -> Self {
        Self(
            problem: "the app has no access group `\(group)`",
            recovery: "add the group to the App Groups of the app and of each extension")
    }

    /// The text isn't a valid name of a group.
    static func invalidName(_ group: String) -> Self {
        Self(
            problem: "`\(group)` isn't the name of an access group",
            recovery: "use letters, digits, periods and hyphens, such as `group.com.example.app`")
    }

    /// An App Clip can't share its keychain.
    static let appClip = Self(
        problem: "an App Clip can't share a keychain", recovery: "leave `Options.accessGroup` unset in the App Clip")
}
