/// The result of reading the configuration of several apps again: the new configuration, or the mistakes in it.
package struct AppsReading: Sendable {
    /// Reads the configuration again.
    package typealias Reader = @Sendable () async -> AppsReading

    /// The new configuration; nil if the mistakes prevent its use.
    let configuration: AppsConfiguration?
    let mistakes: [String]
    let warnings: [String]

    package init(_ configuration: AppsConfiguration?, mistakes: [String], warnings: [String]) {
        self.configuration = configuration
        self.mistakes = mistakes
        self.warnings = warnings
    }
}
