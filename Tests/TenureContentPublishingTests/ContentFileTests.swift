import CommandRunner
import Foundation
import TenureContentPublishing
import TenureCore
import TenurePolicyFile
import Testing

/// What is wrong in `content.yaml`, as whole messages.
@Suite struct `The file of asset packs` {
    private let folder: Folder
    private let policy: Policy

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(at: folder.url("loops"), withIntermediateDirectories: false)
        try folder.write("beat", to: "loops/beat.caf")
        policy = try PolicyFile.read(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            """, named: "policy.yaml")
    }

    private func read(_ text: String, policy: Policy? = nil) throws -> ContentFile {
        try ContentFile.read(Array(text.utf8), named: folder.url("content.yaml").path, policy: policy)
    }

    @Test func `each mistake in the file of asset packs says what to write`() {
        let cases: [(String, String)] = [
            (
                "packs: 1",
                "`packs` can't be `1`; write each pack under its name, such as `levels: { entitlement: pro, files: levels/ }`"
            ),
            (
                "packs: { Loops: { entitlement: e, files: loops } }",
                "`Loops` isn't a valid name of a pack; write 1 to 64 of the characters a–z, 0–9 and `-`"
            ),
            (
                "packs: { a: { product: p, entitlement: e, files: loops } }",
                "a pack has `entitlement` or `product`, not both; remove one"
            ),
            (
                "packs: { a: { product: p, files: /loops } }",
                "`/loops` is an absolute path; write a path relative to this file"
            ),
            (
                "packs: { a: { product: p, files: loops/../loops } }",
                "`loops/../loops` has `..`; put the files of packs into subfolders of this file's folder"
            ),
            (
                "packs: { a: { product: p, files: loops, minimumAppVersion: v3 } }",
                "`v3` isn't a version; write the app's `CFBundleShortVersionString`, such as `\"3.2\"`"
            ),
            (
                "packs:\n" + (0...100).map { "  p\($0): { product: p, files: loops }\n" }.joined(),
                "there are 101 packs; an app has at most 100"
            ),
        ]
        for (text, message) in cases {
            let error = #expect(throws: PolicyFileError.self) { try read("app: com.example.notes\n" + text) }
            #expect(error?.mistakes.map(\.message) == [message], "\(text)")
        }
    }

    @Test func `the file of asset packs may leave out the app of the policy, and names only what the policy has`()
        throws
    {
        let pack =
            "packs: { b: { entitlement: everything, files: loops/ }, a: { entitlement: everything, files: ./loops } }"
        let content = try read(pack, policy: policy)
        #expect(content.bundleID == "com.example.calculator")
        // The packs have the order of the file.
        #expect(content.packs.map(\.name) == ["b", "a"])
        #expect(content.packs.map { $0.files.files.map(\.path) } == [["beat.caf"], ["beat.caf"]])
        #expect(try read("app: com.example.notes\n" + pack).bundleID == "com.example.notes")
        for (text, message) in [
            (
                "app: com.example.notes\n" + pack,
                "`com.example.notes` isn't the policy's app; write `com.example.calculator`, or remove `app`"
            ),
            (
                "packs: { a: { product: com.example.loops, files: loops } }",
                "the policy has no product `com.example.loops`; add it to the policy"
            ),
            (
                "packs: { a: { entitlement: cloud, files: loops } }",
                "the policy has no entitlement `cloud`; write `everything`"
            ),
        ] {
            let error = #expect(throws: PolicyFileError.self) { try read(text, policy: policy) }
            #expect(error?.mistakes.map(\.message) == [message], "\(text)")
        }
    }
}
