/// The configuration of several apps as it was read again, or the mistakes in it.
package struct AppsReading: Sendable {
    package typealias Reader = @Sendable () async -> AppsReading

    /// Nil if mistakes keep it from being complete.
    let configuration: AppsConfiguration?
    let mistakes: [String]
    let warnings: [String]

    package init(_ configuration: AppsConfiguration?, mistakes: [String], warnings: [String]) {
        self.configuration = configuration
        self.mistakes = mistakes
        self.warnings = warnings
    }
}
