package import Foundation
package import TenureCore

/// What the world was last told of one customer: the rights that it believes they have.
///
/// Stands beside the facts, so that whoever changes them, an end that comes by itself and a new policy are all
/// compared with the same thing, and nothing is told twice or never.
package struct Announced: Sendable, Hashable {
    package struct Right: Sendable, Hashable, Codable {
        /// Milliseconds since 1970; nil: for good.
        package var until: Int64?
        /// That it was said that it ends soon.
        package var isExpiring: Bool?

        package init(until: Date?, isExpiring: Bool = false) {
            self.until = until?.millisecondsSince1970
            self.isExpiring = isExpiring ? true : nil
        }
    }

    /// By entitlement.
    package var rights: [String: Right]

    package init(rights: [String: Right] = [:]) {
        self.rights = rights
    }

    /// As if all that holds had been told.
    package init(_ decisions: [Decision]) {
        rights = [:]
        for decision in decisions where decision.outcome == .granted {
            rights[decision.entitlement] = Right(until: decision.until)
        }
    }

    /// The keys in order, so that the same is the same text.
    var json: String {
        if rights.isEmpty { return "{}" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Texts, whole numbers and flags always encode.
        return (try? encoder.encode(rights)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    init(json: String) throws(StoreError) {
        do {
            rights = try JSONDecoder().decode([String: Right].self, from: Data(json.utf8))
        } catch {
            throw .damaged("what was announced of a customer is not what was written")
        }
    }
}
