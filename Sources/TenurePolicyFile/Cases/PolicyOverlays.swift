import TenureCore

/// The policies that a file of policy cases tests. Each case may change parts of one base policy.
struct PolicyOverlays {
    /// The document of the base policy, which a case without changes tests; nil if each case has a whole policy.
    let base: DocumentNode?
    /// The base policy, kept so that it is read only once for all cases without changes; nil before.
    private(set) var unchanged: Policy?

    /// Returns the document of a policy with the changes in `overlay`; nil if there is neither a base policy nor a
    /// change.
    static func document(_ overlay: Part?, over base: DocumentNode?) -> DocumentNode? {
        guard let overlay else { return base }
        return base?.overlaid(with: overlay.node) ?? overlay.node
    }

    /// Returns the base policy with the changes in `overlay`. If the result has mistakes, reports all of these mistakes
    /// and returns nil.
    mutating func policy(
        with overlay: Part?, at position: SourcePosition, _ reading: inout Reading,
        _ releaseList: (String) throws -> [UInt8]
    ) -> Policy? {
        if overlay == nil, let unchanged { return unchanged }
        guard let document = Self.document(overlay, over: base) else {
            reading.report(
                "there is no policy to test; write `policy` at the top, or name a policy file",
                at: position)
            return nil
        }
        do {
            let policy = try PolicyReader.read(document, mistakes: [], releaseList: releaseList)
            if overlay == nil { unchanged = policy }
            return policy
        } catch {
            reading.add(error.mistakes, breaking: [])
            return nil
        }
    }
}
