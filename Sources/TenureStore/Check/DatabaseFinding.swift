/// Something that is wrong with a record, and what to do about it.
package struct DatabaseFinding: Sendable, Hashable {
    /// The public id of the customer whom it concerns.
    package let customer: String?
    package let problem: String
    package let remedy: Remedy

    package enum Remedy: String, Sendable, Hashable {
        case restore = "restore the last backup; devices sync again what came since"
        case rebuild = "`tenure database rebuild` derives it anew"
        case trust = "name the anchors that the service has by --trust; if it has them, restore the last backup"
        case support = "look at it with `tenure database dump`; if nobody changed the database by hand, report it"
    }

    package init(_ problem: String, of customer: String? = nil, _ remedy: Remedy) {
        self.customer = customer
        self.problem = problem
        self.remedy = remedy
    }
}

extension DatabaseFinding: CustomStringConvertible {
    package var description: String {
        let line = "\(problem); \(remedy.rawValue)"
        guard let customer, !problem.contains(customer) else { return line }
        return "\(customer): \(line)"
    }
}
