import Foundation
public import TenureCore

/// Policy files: YAML or JSON in, a policy or everything that is wrong with it out.
public enum PolicyFile {
    /// Bytes that a policy may have.
    package static let maximumSize = SourceText.maximumSize

    /// The path of a file that another one names, a policy or a scenario: beside that one, which is standard input where
    /// its path is `-`.
    package static func path(of file: String, beside other: String) -> String {
        let folder = other == "-" ? "." : (other as NSString).deletingLastPathComponent
        return file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file
    }

    /// Reads a policy from YAML or JSON.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, at most 1 MiB.
    ///   - fileName: the name in mistakes.
    ///   - releaseList: the bytes of the CSV file that `releases` names, by its path relative to the policy file.
    /// - Throws: every mistake of the file and of its release list, in the order of the text.
    public static func read(
        _ bytes: some Collection<UInt8>, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) throws(PolicyFileError) -> Policy {
        let (document, mistakes) = try document(bytes, named: fileName)
        return try PolicyReader.read(document, mistakes: mistakes, releaseList: releaseList)
    }

    /// What can be read of a policy file, with everything that is wrong with it and the place of each part: what the
    /// linter reads. Never fails: a file that is no document at all is a draft with that mistake.
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

    /// Reads a policy from text. `releaseList` returns the bytes of the file that `releases` names.
    ///
    /// - Throws: Every mistake in the policy and in its release list.
    public static func read(
        _ text: String, named fileName: String,
        releaseList: (String) throws -> [UInt8] = { _ throws in throw NoReleaseList() }
    ) throws(PolicyFileError) -> Policy {
        try read(Array(text.utf8), named: fileName, releaseList: releaseList)
    }

    /// There is no place from which a release list could be read.
    public struct NoReleaseList: Error, CustomStringConvertible {
        public init() {}

        public var description: String { "no other file can be read from here" }
    }

    /// The document of a file, and the mistakes that did not keep it from being read. `beginning`: what an empty file
    /// should hold.
    package static func document(
        _ bytes: some Collection<UInt8>, named fileName: String,
        beginning: String = "a policy, beginning with `app: { bundleID: com.example.calculator }`"
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        let source = try SourceText(bytes, named: fileName)
        if source.isJSON {
            return try JSONDocument.parse(source)
        }
        func failure(_ message: String) -> PolicyFileError {
            PolicyFileError(mistakes: [PolicyFileMistake(file: fileName, line: 1, column: 1, message: message)])
        }
        #if Service
            let (root, mistakes) = try YAMLDocument.parse(source)
            guard let root else { throw failure("the file is empty; write \(beginning)") }
            return (root, mistakes)
        #else
            throw failure("only JSON is read here; write it with `tenure policy compile`")
        #endif
    }
}

extension SourceText {
    /// By its name, or because it reads as JSON: YAML may begin with a brace too.
    fileprivate var isJSON: Bool {
        if fileName.lowercased().hasSuffix(".json") { return true }
        guard text.unicodeScalars.first(where: { !" \t\n".unicodeScalars.contains($0) }) == "{" else { return false }
        return (try? JSONDocument.parse(self)) != nil
    }
}
