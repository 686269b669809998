import ArgumentParser
import Foundation
import TenureJSON
import TenureMint
import TenureRehearsal

struct MintCorpusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "corpus",
        abstract: "Create evidence of any number of customers for `tenure rehearse`, with the expected results.",
        discussion: """
            The lines are evidence as an app would have collected it: buyers of every era on every platform, and invalid \
            lines of every kind. --truth writes the exact results of a rehearsal of Examples/rehearsal/policy.yaml against \
            previous.yaml as of 2015-09-01.

            The same seed gives the same lines, except for the signatures. A line has about 4.4 KB.

            Example:
              tenure mint authority ./authority
              tenure mint corpus --authority ./authority --count 200000 \\
                  --out corpus.ndjson --truth truth.json
              tenure rehearse --policy Examples/rehearsal/policy.yaml \\
                  --against Examples/rehearsal/previous.yaml --evidence corpus.ndjson \\
                  --at 2015-09-01 --trust ./authority
            """)

    @Option(help: .value("dir", "The folder of the test authority that signs."))
    var authority: String

    @Option(help: "The number of lines.") var count: Int

    @Option(help: "The same seed gives the same lines.") var seed: UInt64 = 1

    @Option(help: .value("file", "The file to write the lines to; - for standard output."))
    var out: String

    @Option(help: .value("file", "The file to write the expected results of a rehearsal to, as JSON."))
    var truth: String?

    @OptionGroup var replacing: ReplaceOption

    func validate() throws { try require(count >= 0, "`--count` can't be negative; pass the number of lines") }

    func run() async throws {
        try FilePlan(reading: FilePlan.files(at: self.authority), writing: [out, truth].filter { $0 != "-" })
            .check(replacing: replacing.force)
        let authority = try TestAuthority(readFrom: URL(fileURLWithPath: self.authority))
        let corpus = try Corpus(count: count, seed: seed, authority: authority)
        let output = out == "-" ? nil : try StreamedFile(path: out, replacing: replacing.force)
        var expected = CorpusTruth()
        var blockNumbers = (0..<corpus.blockCount).makeIterator()
        let progress = Progress("lines")
        // `inOrder` creates blocks on all cores, and passes them to the last closure in their order.
        try await inOrder(
            makeNext: { blockNumbers.next() }, { number in Result { try corpus.block(number) } }
        ) { result in
            let block = try result.get()
            if let output {
                try output.write(block.bytes)
            } else if !terminal.write(bytes: block.bytes) {
                throw CommandError(
                    "standard output was closed before all lines were written; write to a file with --out")
            }
            expected.add(block.truth)
            progress.show(Int64(expected.lines), of: Int64(count))
        }
        progress.end()
        try output?.close()
        if let truth { try OutputFile(path: truth, replaces: replacing.force).write(expected.json) }
    }
}

extension CorpusTruth {
    /// The file that `--truth` names.
    fileprivate var json: [UInt8] {
        JSONWriter.object(.readable) { writer in
            writer.field("at", Corpus.instant.rfc3339)
            writer.field("lines", lines)
            writer.field("blankLines", blankLines)
            writer.field("usableLines", usableLines)
            writer.field("customers", customers)
            writer.field("losing", losing)
            writer.field("gaining", gaining)
            writer.field("rejectedLinesByReason", rejectedLines)
            writer.field("rejectedArtifactsByReason", rejectedArtifacts)
            writer.object("entitlements") { writer in
                for (name, truth) in [("everything", everything), ("cloud", cloud)] {
                    writer.object(name) { writer in
                        writer.field("outcomes", truth.outcomes)
                        writer.field("reasons", truth.reasons)
                        writer.field("changes", truth.changes)
                    }
                }
            }
            writer.field("kinds", kinds)
        }
    }
}
