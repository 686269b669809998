/// A problem that `tenure database check` or `tenure database rebuild` found, and what the operator does about it.
package struct DatabaseFinding: Sendable, Hashable {
    /// The public ID of the customer with the problem. Nil if the problem concerns no customer.
    package let customer: String?
    /// What is wrong, as it is printed.
    package let problem: String
    package let remedy: Remedy

    /// What the operator should do, as it is printed after the problem.
    package enum Remedy: String, Sendable, Hashable {
        case restore = "restore the last backup; devices sync newer purchases again"
        case reindex = "run `REINDEX INDEX` for it with `psql`"
        case rebuild = "run `tenure database rebuild`, which computes the facts again"
        case trust = "pass the service's trust anchors with --trust; if you did, restore the last backup"
        case inspect =
            "look at the rows with `tenure database dump`; if they were never edited by hand, report the problem"
    }

    package init(_ problem: String, of customer: String? = nil, _ remedy: Remedy) {
        self.customer = customer
        self.problem = problem
        self.remedy = remedy
    }
}

extension DatabaseFinding: CustomStringConvertible {
    package var description: String {
        let text = "\(problem); \(remedy.rawValue)"
        guard let customer, !problem.contains(customer) else { return text }
        return "\(customer): \(text)"
    }
}
