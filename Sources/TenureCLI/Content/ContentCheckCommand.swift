import ArgumentParser
import TenureContentPublishing
import TenurePolicyFile

struct ContentCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report the mistakes of asset packs and of their files.",
        discussion: """
            Each mistake has its line and column; mistakes in a pack's files have the position of `files`. Symbolic \
            links, programs and libraries (Mach-O, ELF, PE: App Review 2.5.2) can't be published. Neither can files \
            that are too large, or with names that some file systems don't distinguish. `.DS_Store` and `._*` are \
            skipped.

            Exit codes: 0 no mistakes, 2 mistakes, 1 a file can't be read, 64 wrong usage.

            Example:
              tenure content check content.yaml --policy policy.yaml
            """
    )

    @OptionGroup var content: ContentFileOptions

    func run() async throws {
        let terminal = Terminal.standardOutput
        let name = InputFile(path: content.file).name
        do {
            let contentFile = try content.read()
            for pack in contentFile.packs {
                terminal.write(
                    "\(pack.name): \(counted(pack.files.files.count, "file")), \(ByteCount(pack.files.size))")
            }
            terminal.write("\(name): no mistakes")
        } catch let error as PolicyFileError {
            var excerpts = SourceExcerpts()
            for mistake in error.mistakes {
                let position = Terminal.escaped(mistake.position.description)
                terminal.write(
                    "\(terminal.styled(position, .bold)): \(terminal.styled("error", .red)): \(Terminal.escaped(mistake.message))"
                )
                guard mistake.showsExcerpt else { continue }
                for line in excerpts.lines(of: mistake.position.file, at: mistake.position) {
                    terminal.write(terminal.styled(line, .faint))
                }
            }
            // If the policy has mistakes, the packs aren't checked, and all mistakes are in the policy.
            let isPolicyInvalid = !error.mistakes.contains { $0.position.file == content.file }
            let checkedFile = isPolicyInvalid ? content.policy.map { InputFile(path: $0).name } ?? name : name
            terminal.write("\(checkedFile): \(counted(error.mistakes.count, "mistake"))")
            throw ExitCode.refused
        }
    }
}
