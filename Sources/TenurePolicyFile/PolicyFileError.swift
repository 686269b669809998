/// All mistakes in a policy file, its release list or its cases, in the order of the text.
package struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, at least one.
    package let mistakes: [PolicyFileMistake]

    /// The mistakes, one per line.
    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// One mistake: its position, what is wrong, and what to write instead.
package struct PolicyFileMistake: Sendable, Hashable, CustomStringConvertible {
    /// The name of the file, as it was given to the reader.
    package let file: String
    /// The line, counted from 1.
    package let line: Int
    /// The column in Unicode scalars, counted from 1.
    package let column: Int
    /// What is wrong, and what to write instead.
    package let message: String
    /// The linter's code for this mistake, or `mistake` if there is no specific one.
    package let code: String

    /// Creates a mistake at a position of a file.
    package init(file: String, line: Int, column: Int, message: String, code: String = "mistake") {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.code = code
    }

    /// The mistake with its position, such as `policy.yaml:12:7: message`.
    package var description: String { "\(file):\(line):\(column): \(message)" }
}
