/// All mistakes in a policy file, its release list or its cases, in the order of the text.
public struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, at least one.
    public let mistakes: [PolicyFileMistake]

    /// The mistakes, one per line.
    public var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// One mistake: its position, what is wrong, and what to write instead.
public struct PolicyFileMistake: Sendable, Hashable, CustomStringConvertible {
    /// The name of the file, as it was given to the reader.
    public let file: String
    /// The line, counted from 1.
    public let line: Int
    /// The column in Unicode scalars, counted from 1.
    public let column: Int
    /// What is wrong, and what to write instead.
    public let message: String
    /// The linter's code for this mistake, or `mistake` if there is no specific one.
    public let code: String

    /// Creates a mistake at a position of a file.
    public init(file: String, line: Int, column: Int, message: String, code: String = "mistake") {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.code = code
    }

    /// The mistake with its position, such as `policy.yaml:12:7: message`.
    public var description: String { "\(file):\(line):\(column): \(message)" }
}
