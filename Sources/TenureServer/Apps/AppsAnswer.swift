/// The apps of a service with several apps, in responses of the admin API.
package struct AppsAnswer: Sendable, Hashable, Codable {
    /// One app and its state.
    package struct App: Sendable, Hashable, Codable {
        /// The app's name in the configuration.
        package let name: String
        /// The bundle ID in the app's policy.
        package let bundleID: String
        /// `ok`, or `failing` if the app isn't running or can't write to its database.
        package let status: String
        /// A stable name for the reason why the app is failing, such as `appNotRunning`; nil if the app isn't failing.
        package let reason: String?
        /// The error that keeps the app from running; nil if it is running.
        package let detail: String?
    }

    /// The apps in the order of the configuration.
    package let apps: [App]
    /// The name of the app that also answers without `/apps/NAME`; nil if there is no such app.
    package let `default`: String?
    /// The names of the added apps. Only the response to a reload has this field and the next three fields.
    package var added: [String]?
    /// The names of the removed apps.
    package var removed: [String]?
    /// The names of the apps that were and still are configured.
    package var reloaded: [String]?
    /// The warnings about the new configuration.
    package var warnings: [String]?
}
