#if canImport(os)
    import os
#endif

extension Tenure {
    /// Receives Tenure's log lines. They never contain a token, a signed artifact or an ID of the customer.
    public struct Log: Sendable {
        /// How important a line is.
        public enum Level: String, Sendable, Hashable, CaseIterable {
            /// An unusual event that needs no action, such as a change of the App Store account.
            case info
            /// A failure, such as a state that couldn't be stored.
            case error
        }

        private let write: @Sendable (Level, String) -> Void

        /// Creates a log that passes every line to `write`, from any thread.
        public init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }

        /// A log that discards every line.
        public static let silent = Log { _, _ in }

        #if canImport(os)
            /// The system's log, under the subsystem `tenure`.
            public static let system: Log = {
                let logger = Logger(subsystem: "tenure", category: "client")
                return Log { level, line in
                    switch level {
                    case .info: logger.info("\(line, privacy: .public)")
                    case .error: logger.error("\(line, privacy: .public)")
                    }
                }
            }()

            static let standard = system
        #else
            static let standard = silent
        #endif

        func info(_ line: String) { write(.info, line) }
        func error(_ line: String) { write(.error, line) }
    }
}
