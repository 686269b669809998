import ArgumentParser
import Testing

@testable import TenureCLI

@Suite struct HelpTests {
    /// Help is wrapped at the width of the terminal. A wrapped command can't be copied into a shell.
    @Test(arguments: commands())
    func `the examples in a command's help fit in 80 columns`(command: any ParsableCommand.Type) {
        let lines = command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
        let examples = lines.drop { !$0.hasPrefix("Example") }.prefix { !$0.isEmpty }
        for line in examples { #expect(line.count <= 80) }
    }

    /// All commands and groups of commands.
    private static func commands(in group: any ParsableCommand.Type = Tenure.self) -> [any ParsableCommand.Type] {
        [group] + group.configuration.subcommands.flatMap { commands(in: $0) }
    }
}
