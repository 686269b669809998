/// What happened to a file of an open database. A process that goes on writing to the open file loses what it writes.
struct FileReplacement: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of replacements. Their raw values are parts of messages.
    enum Change: String, Sendable, Hashable {
        /// Nothing is at the path.
        case missing = "was deleted or moved"
        /// Another file is at the path.
        case another = "was replaced by another file"
        /// The same file has other contents, which SQLite didn't write.
        case overwritten = "was overwritten"
    }

    let change: Change
    let path: String

    var description: String { "`\(path)` \(change.rawValue)" }
}
