/// The apps of the process, in responses of the admin API.
package struct AppsAnswer: Sendable, Hashable, Codable {
    package struct App: Sendable, Hashable, Codable {
        package let name: String
        package let bundleID: String?
        /// `ok`, or `failing` if the app can't write to its database.
        package let status: String
        /// A stable name for the reason why the app is failing; nil if the app isn't failing.
        package let reason: String?
        /// The error message if the app doesn't run; nil if it runs.
        package let detail: String?
    }

    /// The apps in the order of the configuration.
    package let apps: [App]
    /// The name of the app that also answers without `/apps/NAME`.
    package let `default`: String?
    /// The names of the added apps. Only the response to a reload has this field and the next three fields.
    package var added: [String]?
    package var removed: [String]?
    package var reloaded: [String]?
    package var warnings: [String]?
}
