import TenureCore

/// Reads the entitlements of a policy: the products that grant an entitlement, the eras that it honors (the customers
/// of an honored era have the entitlement), and trials.
extension PolicyReader {
    /// Returns one `Entitlement` per entry under `entitlements`. An entry with mistakes still has an `Entitlement`.
    mutating func entitlements(_ part: Part?) -> [Entitlement] {
        guard let part else { return [] }
        guard case .mapping(let entries) = part.node.content else {
            reading.report(
                "\(part.node.kindInWords) isn't possible here; write each entitlement under its name, such as `everything: { honors: [paid] }`",
                at: part.position, breaking: part.path)
            return []
        }
        return entries.map { entry in
            let item = Part(entry, under: part.path)
            if entry.value.isNull {
                reading.report(
                    "`\(entry.key.shortened)` is empty; write its `products`, its `honors`, or both",
                    at: item.position, breaking: item.path)
                return Entitlement(name: entry.key)
            }
            guard let fields = Fields(item, .entitlement, &reading) else { return Entitlement(name: entry.key) }
            return Entitlement(
                name: entry.key,
                title: fields[.title].flatMap { self.title($0, example: "Everything") },
                products: fields[.products].map { self.products($0) } ?? [],
                honors: fields[.honors].flatMap { self.honors($0) },
                trial: fields[.trial].flatMap { self.trial($0) })
        }
    }

    /// Reads products. Each is an ID, or a mapping with `id` and other keys.
    private mutating func products(_ part: Part) -> [Entitlement.Product] {
        let elements = part.elements(&reading, example: "products: [com.example.calculator.everything]") ?? []
        return elements.enumerated().map { index, element in
            // An unreadable product has an ID that no valid file contains, so it equals no other product.
            let unknown = Entitlement.Product(id: "\u{0}\(index)")
            guard case .mapping = element.node.content else {
                return element.name(&reading, example: "com.example.calculator.everything")
                    .map { Entitlement.Product(id: $0) } ?? unknown
            }
            guard let fields = Fields(element, .product, &reading) else { return unknown }
            let id = fields[.id].flatMap { $0.name(&reading, example: "com.example.calculator.season") }
            return Entitlement.Product(
                id: id ?? unknown.id, title: fields[.title].flatMap { self.title($0, example: "Full Version") },
                length: fields[.for].flatMap { $0.period(&reading) })
        }
    }

    /// Reads the title of an entitlement or a product: a text for each language.
    private mutating func title(_ part: Part, example: String) -> Title? {
        guard case .mapping(let entries) = part.node.content else {
            let text = part.node.text ?? ""
            let shown = text.isEmpty || text.contains("`") ? example : text.shortened
            return part.refuse(
                &reading,
                "\(part.node.kindInWords) has no language; write a text for each language, such as `title: { en: \(shown) }`"
            )
        }
        let translations = entries.compactMap { entry -> Title.Translation? in
            Part(entry, under: part.path).name(&reading, example: "\(entry.key.shortened): \(example)")
                .map { Title.Translation(language: entry.key, text: $0) }
        }
        // If no text could be read, treat the title as missing.
        return translations.isEmpty && !entries.isEmpty ? nil : Title(translations)
    }

    /// Reads the entries under `honors`. Each is the name of an era, or a mapping with `era` and limits. If the name
    /// can't be read, it is empty in the result.
    private mutating func honors(_ part: Part) -> [Honor]? {
        part.elements(&reading, example: "honors: [paid]").map { elements in
            elements.map { element in
                guard case .mapping = element.node.content else {
                    return Honor(era: element.name(&reading, example: "paid") ?? "")
                }
                guard let fields = Fields(element, .honor, &reading) else { return Honor(era: "") }
                return Honor(
                    era: fields[.era].flatMap { $0.name(&reading, example: "paid") } ?? "",
                    boughtSince: fields[.boughtSince].flatMap { $0.limit(&reading, \.firstBeginning) },
                    boughtBefore: fields[.boughtBefore].flatMap { $0.limit(&reading, \.lastBeginning) },
                    length: fields[.for].flatMap { $0.period(&reading) },
                    until: fields[.until].flatMap { $0.limit(&reading, \.lastEnd) })
            }
        }
    }

    /// Reads a trial, which has either sessions or days.
    private mutating func trial(_ part: Part) -> Trial? {
        guard let fields = Fields(part, .trial, &reading) else { return nil }
        let sessions = fields[.sessions].map { $0.integer(&reading, example: "sessions: 5") }
        let days = fields[.days].map { $0.integer(&reading, example: "days: 14") }
        switch (sessions, days) {
        case (let sessions?, nil): return sessions.map { .sessions($0) }
        case (nil, let days?): return days.map { .days($0) }
        case (nil, nil):
            if reading.isBroken(part.path) { return nil }
            return part.refuse(&reading, "the trial is empty; write `sessions: 5` or `days: 14`")
        case (.some, .some):
            return part.refuse(&reading, "a trial has either `sessions` or `days`; keep one of them")
        }
    }
}
