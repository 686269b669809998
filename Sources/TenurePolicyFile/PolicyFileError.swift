import TenureCore

/// All mistakes in a policy file, its release list or its cases, in the order of the text.
package struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, at least one.
    package let mistakes: [PolicyFileMistake]

    /// The mistakes, one per line.
    package var description: String { mistakes.map(\.description).joined(separator: "\n") }

    /// The same mistakes, marked so that commands don't show the file's lines.
    var withoutExcerpts: PolicyFileError {
        var hidden = mistakes
        for index in hidden.indices { hidden[index].showsExcerpt = false }
        return PolicyFileError(mistakes: hidden)
    }
}

/// One mistake: its position, what is wrong, and what to write instead.
package struct PolicyFileMistake: Sendable, Hashable, CustomStringConvertible {
    /// The position in the file. The file has the name that the caller passed to the reader.
    package let position: SourcePosition
    /// What is wrong, and what to write instead.
    package let message: String
    /// The code of the linter rule for this mistake, or `mistake` if no rule describes it.
    package let code: String
    /// Whether a command may show the line of the file. False if the user may have passed another file by mistake, such
    /// as one with a private key.
    package fileprivate(set) var showsExcerpt = true

    /// Creates a mistake at a position of a file.
    package init(_ message: String, at position: SourcePosition, code: String = "mistake") {
        self.position = position
        // The message may quote a password or a key that the file has by mistake.
        self.message = message.hidingCredentials
        self.code = code
    }

    /// The mistake with its position, such as `policy.yaml:12:7: message`.
    package var description: String { "\(position): \(message)" }
}

extension [PolicyFileMistake] {
    /// Adds a mistake at a position of a file.
    mutating func add(_ message: String, at position: SourcePosition, code: String = "mistake") {
        append(PolicyFileMistake(message, at: position, code: code))
    }
}

extension PolicyFileError {
    /// Creates the error of a file with one mistake.
    init(_ message: String, at position: SourcePosition) {
        self.init(mistakes: [PolicyFileMistake(message, at: position)])
    }
}
