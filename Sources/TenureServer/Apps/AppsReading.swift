/// The reloaded configuration of several apps, or the mistakes in it.
package struct AppsReading: Sendable {
    package typealias Reader = @Sendable () async -> AppsReading

    /// Nil if the configuration has mistakes.
    let configuration: AppsConfiguration?
    let mistakes: [String]
    let warnings: [String]

    package init(_ configuration: AppsConfiguration?, mistakes: [String], warnings: [String]) {
        self.configuration = configuration
        self.mistakes = mistakes
        self.warnings = warnings
    }
}
