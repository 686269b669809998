extension Setting {
    /// The options as `--help` shows them, in lines of at most `width` characters.
    package static func help(width: Int = 78) -> String {
        all.filter { $0.kind != .structure }.map { setting in
            var facts: [String] = []
            if !setting.isForCommandOnly || setting.name == config.name { facts.append(setting.variable) }
            if let fallback = setting.fallback, setting.kind != .flag { facts.append("default: \(fallback)") }
            if setting.kind.isList { facts.append("may be repeated") }
            let text = setting.summary + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
            var lines = ["  " + setting.flag + (setting.kind.placeholder.map { " <\($0)>" } ?? "")]
            var line = "     "
            for word in text.split(separator: " ") {
                if line.count + word.count + 1 > width {
                    lines.append(line)
                    line = "     "
                }
                line += " " + word
            }
            return (lines + [line]).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
