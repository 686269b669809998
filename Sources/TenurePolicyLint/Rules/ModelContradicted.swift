import TenureCore
import TenurePolicyFile

/// The list says what each release cost; where it disagrees with the eras, one of them is wrong about who paid.
extension LintRule {
    static let modelContradicted = LintRule(
        "model-contradicted", .error, "a release whose price model is not that of its era",
        story: "Free, then paid, then free again: one date is not enough, and whoever keeps one forgets the middle.",
        fix: "Correct the era's beginning or model, or the row."
    ) { subject, report in
        for platform in subject.platforms {
            var told: Set<Int> = []
            for listed in platform.releases {
                guard let model = listed.release.model, let era = platform.era(of: listed.release),
                    subject.eras[era].model != model, told.insert(era).inserted
                else { continue }
                let honored = subject.honored(in: era)
                let consequence =
                    honored.isEmpty
                    ? (model == .paid ? ": whoever paid then keeps nothing" : "")
                    : (model == .free ? ": whoever came then gets \(inWords(honored)) for nothing" : "")
                report.add(
                    at: listed.position,
                    "the list says that \(platform.position(of: listed.release)) on \(platform.platform.rawValue) (\(listed.release.releasedAt.text)) was \(model.rawValue), and it came out in \(subject.name(era)), which is \(subject.eras[era].model.rawValue)\(consequence)",
                    fix: "write an era that begins there, correct where \(subject.name(era)) begins, or correct the row"
                )
            }
        }
    }
}
