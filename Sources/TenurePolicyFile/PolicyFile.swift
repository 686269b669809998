import Foundation
package import TenureCore

/// Reads policy files in YAML or JSON. Returns the policy, or all mistakes in the file.
package enum PolicyFile {
    /// The maximum size of a policy in bytes.
    package static let maximumSize = SourceText.maximumSize

    /// Returns the path of a file that another file contains. The path is relative to the folder of the other file.
    ///
    /// - Parameter other: the file that contains the path. `-` is standard input, for which the working folder is used.
    package static func path(of file: String, beside other: String) -> String {
        let folder = other == "-" ? "." : (other as NSString).deletingLastPathComponent
        return file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file
    }

    /// Reads a policy from YAML or JSON.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, at most 1 MiB.
    ///   - fileName: the name in mistakes.
    ///   - releaseList: the bytes of the CSV file in `releases`, by its path relative to the policy file.
    /// - Throws: every mistake of the file and of its release list, in the order of the text.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) throws(PolicyFileError) -> Policy {
        let (document, mistakes) = try document(bytes, named: fileName)
        return try PolicyReader.read(document, mistakes: mistakes, releaseList: releaseList)
    }

    /// Reads a policy file for the linter: its readable parts, all mistakes, and the position of each part. This method
    /// never throws: if the file isn't a document at all, the draft has this mistake.
    package static func draft(
        _ bytes: some Collection<UInt8>, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) -> PolicyDraft {
        do throws(PolicyFileError) {
            let (document, mistakes) = try document(bytes, named: fileName)
            return PolicyReader.draft(document, mistakes: mistakes, releaseList: releaseList)
        } catch {
            let start = SourcePosition(file: fileName, line: 1, column: 1)
            return PolicyDraft(
                root: Part(root: DocumentNode(content: .null, position: start)),
                reading: Reading(mistakes: error.mistakes))
        }
    }

    /// Reads a policy from text. `releaseList` returns the bytes of the file in `releases`.
    ///
    /// - Throws: Every mistake in the policy and in its release list.
    package static func read(
        _ text: String, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) throws(PolicyFileError) -> Policy {
        try read(Array(text.utf8), named: fileName, releaseList: releaseList)
    }

    /// The error of a `releaseList` closure that reads no files.
    package struct NoReleaseList: Error, CustomStringConvertible {
        package init() {}

        package var description: String { "a policy that is read from memory can't name another file" }
    }

    /// Parses a file. Returns the document, and the mistakes that didn't prevent parsing.
    ///
    /// - Throws: the mistakes, even if the file is of another kind. Such a file may be secret, so the message doesn't
    ///   quote it.
    package static func document(
        _ bytes: some Collection<UInt8>, named fileName: String, as kind: DocumentKind = .policy
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        do throws(PolicyFileError) {
            let source = try SourceText(bytes, named: fileName)
            let (root, mistakes) = try parse(source, as: kind)
            guard kind.matches(root) else { throw failure(kind.objection(to: root), in: fileName) }
            return (root, mistakes)
        } catch {
            throw kind.hasKey(in: bytes) ? error : error.withoutExcerpts
        }
    }

    private static func parse(
        _ source: SourceText, as kind: DocumentKind
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        if source.isJSON {
            return try JSONDocument.parse(source)
        }
        #if Service
            let (root, mistakes) = try YAMLDocument.parse(source)
            guard let root else {
                throw failure(
                    "the file is empty; write \(kind.name), beginning with \(kind.beginning)", in: source.fileName)
            }
            return (root, mistakes)
        #else
            throw failure(
                "an app reads only JSON; compile the policy with `tenure policy compile`", in: source.fileName)
        #endif
    }

    private static func failure(_ message: String, in fileName: String) -> PolicyFileError {
        PolicyFileError(message, at: SourcePosition(file: fileName, line: 1, column: 1))
    }
}

extension SourceText {
    /// Whether the file is JSON: by its name, or because it can be parsed as JSON. YAML may begin with a brace, too.
    fileprivate var isJSON: Bool {
        if fileName.lowercased().hasSuffix(".json") { return true }
        guard text.unicodeScalars.first(where: { !" \t\n".unicodeScalars.contains($0) }) == "{" else { return false }
        return (try? JSONDocument.parse(self)) != nil
    }
}
