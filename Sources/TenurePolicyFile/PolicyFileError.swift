import TenureCore

/// All mistakes in a policy file, its release list or its cases, in the order of the text.
package struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistakes, at least one.
    package let mistakes: [PolicyFileMistake]

    /// The mistakes, one per line.
    package var description: String {
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
package struct PolicyFileMistake: Sendable, Hashable, CustomStringConvertible {
    /// The position in the file, with the name under which the file was read.
    package let position: SourcePosition
    /// What is wrong, and what to write instead.
    package let message: String
    /// The linter's code for this mistake, or `mistake` if there is no specific code.
    package let code: String
    /// Whether a command may show the line. False if the file may be something else, such as a file with a key.
    package fileprivate(set) var showsExcerpt = true

    /// Creates a mistake at a position of a file.
    package init(_ message: String, at position: SourcePosition, code: String = "mistake") {
        self.position = position
        // The file may have a password or a key by mistake.
        self.message = message.hidingCredentials
        self.code = code
    }

    /// The mistake with its position, such as `policy.yaml:12:7: message`.
    package var description: String { "\(position): \(message)" }
}
