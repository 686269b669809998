import Foundation
package import TenureCore

/// Reads policy files in YAML or JSON. Returns the policy, or all mistakes in the file.
package enum PolicyFile {
    /// The maximum size of a policy in bytes.
    package static let maximumSize = SourceText.maximumSize

    /// Returns the path of `file`, which is written in another file and relative to that file's folder.
    ///
    /// - Parameter other: the path of the other file. `-` is standard input: `file` is then relative to the working
    ///   folder.
    package static func path(of file: String, beside other: String) -> String {
        let folder = other == "-" ? "." : (other as NSString).deletingLastPathComponent
        return file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file
    }

    /// Reads a policy from YAML or JSON.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, at most 1 MiB.
    ///   - fileName: the name of the file in mistakes.
    ///   - releaseList: returns the bytes of the policy's release list (a CSV file), by the path that the policy has as
    ///     `releases`.
    /// - Throws: all mistakes in the file and in its release list, in the order of the text.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) throws(PolicyFileError) -> Policy {
        let (document, mistakes) = try document(bytes, named: fileName)
        return try PolicyReader.read(document, mistakes: mistakes, releaseList: releaseList)
    }

    /// Reads a policy file for the linter. The result has the parts that could be read, all mistakes, and the position
    /// of each part. If the file isn't YAML or JSON at all, the result has only that mistake.
    package static func draft(
        _ bytes: some Collection<UInt8>, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) -> PolicyDraft {
        do throws(PolicyFileError) {
            let (document, mistakes) = try document(bytes, named: fileName)
            return PolicyReader.draft(document, mistakes: mistakes, releaseList: releaseList)
        } catch {
            let root = DocumentNode(content: .null, position: SourcePosition(file: fileName))
            return PolicyDraft(root: Part(root: root), reading: Reading(mistakes: error.mistakes))
        }
    }

    /// Reads a policy from text in YAML or JSON. The parameters are the same as for bytes.
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

    /// Parses a file. Returns the document, and mistakes that didn't prevent parsing, such as repeated keys.
    ///
    /// - Throws: the mistake that prevented parsing, or that the file is of another kind than `kind`. A file of another
    ///   kind may be secret, so commands don't show its lines.
    package static func document(
        _ bytes: some Collection<UInt8>, named fileName: String, as kind: DocumentKind = .policy
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        do throws(PolicyFileError) {
            let (root, mistakes) = try parse(SourceText(bytes, named: fileName), as: kind)
            guard kind.matches(root) else {
                throw PolicyFileError(kind.objection(to: root), at: SourcePosition(file: fileName))
            }
            return (root, mistakes)
        } catch {
            throw kind.hasKey(in: bytes) ? error : error.withoutExcerpts
        }
    }

    /// Parses the text as JSON or YAML. Apps can read only JSON.
    private static func parse(
        _ source: SourceText, as kind: DocumentKind
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        if source.isJSON { return try JSONDocument.parse(source) }
        #if Service
            let (root, mistakes) = try YAMLDocument.parse(source)
            guard let root else {
                throw PolicyFileError(
                    "the file is empty; write \(kind.name), beginning with \(kind.beginning)",
                    at: SourcePosition(file: source.fileName))
            }
            return (root, mistakes)
        #else
            throw PolicyFileError(
                "an app reads only JSON; compile the policy with `tenure policy compile`",
                at: SourcePosition(file: source.fileName))
        #endif
    }
}
