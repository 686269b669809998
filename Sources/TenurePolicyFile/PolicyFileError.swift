import TenureCore

/// All mistakes in a policy file, its release list or its cases, in the order of the text.
public struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// At least one, in the order of the text.
    public let mistakes: [PolicyFileMistake]

    /// One line for each mistake.
    public var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }

    /// The same mistakes, without excerpts of the file's lines.
    var withoutExcerpts: PolicyFileError {
        PolicyFileError(
            mistakes: mistakes.map {
                var mistake = $0
                mistake.showsExcerpt = false
                return mistake
            })
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
    /// Whether a command may show the line. False if the file may be something else, such as a file with a key.
    package fileprivate(set) var showsExcerpt = true

    /// Creates a mistake at a position of a file.
    public init(file: String, line: Int, column: Int, message: String, code: String = "mistake") {
        self.file = file
        self.line = line
        self.column = column
        // The file may have a password or a key by mistake.
        self.message = message.hidingCredentials
        self.code = code
    }

    /// `policy.yaml:12:7: message`
    public var description: String { "\(file):\(line):\(column): \(message)" }
}
