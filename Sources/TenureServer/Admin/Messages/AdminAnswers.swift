package import Foundation
import TenureAPI
import TenureCore
package import TenureJSON

/// One customer in a list.
package struct FoundCustomer: Sendable, Hashable {
    package let id: String
    package let environment: String
    package let isTest: Bool
    package let createdAt: Date

    package init(id: String, environment: String, isTest: Bool, createdAt: Date) {
        self.id = id
        self.environment = environment
        self.isTest = isTest
        self.createdAt = createdAt
    }
}

/// Something that happened, in the order of time.
package struct TimelineEntry: Sendable, Hashable {
    package let at: Date
    package let kind: String
    /// In the order in which they are shown; instants as in RFC 3339.
    package let facts: [Fact]

    package struct Fact: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Facts that are not there are left out.
    package init(at: Date, _ kind: String, _ facts: [(String, String?)] = []) {
        self.at = at
        self.kind = kind
        self.facts = facts.compactMap { name, value in value.map { Fact(name, $0) } }
    }
}

/// One line of the audit trail.
package struct AuditLine: Sendable, Hashable {
    package let id: Int64
    package let at: Date
    package let actor: String
    package let action: String
    package let customer: String?
    package let detail: [String: String]

    package init(id: Int64, at: Date, actor: String, action: String, customer: String?, detail: [String: String]) {
        self.id = id
        self.at = at
        self.actor = actor
        self.action = action
        self.customer = customer
        self.detail = detail
    }
}

extension JSONWriter {
    package mutating func value(_ customer: FoundCustomer) {
        object { json in
            json.key("id")
            json.value(customer.id)
            json.key("environment")
            json.value(customer.environment)
            if customer.isTest {
                json.key("isTest")
                json.value(true)
            }
            json.key("createdAt")
            json.value(customer.createdAt)
        }
    }

    package mutating func value(_ entry: TimelineEntry) {
        object { json in
            json.key("at")
            json.value(entry.at)
            json.key("kind")
            json.value(entry.kind)
            for fact in entry.facts {
                json.key(fact.name)
                json.value(fact.value)
            }
        }
    }

    package mutating func value(_ line: AuditLine) {
        object { json in
            json.key("id")
            json.value(line.id)
            json.key("at")
            json.value(line.at)
            json.key("actor")
            json.value(line.actor)
            json.key("action")
            json.value(line.action)
            if let customer = line.customer {
                json.key("customer")
                json.value(customer)
            }
            json.key("detail")
            json.value(line.detail)
        }
    }

    /// With the names in order.
    package mutating func value(_ texts: [String: String]) {
        object { json in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                json.key(name)
                json.value(text)
            }
        }
    }

    /// A page of a list; `next` asks for the following one.
    package mutating func page<Element>(
        _ name: String, of elements: [Element], next: Int64?, _ body: (inout JSONWriter, Element) -> Void
    ) {
        beginObject()
        key(name)
        array(elements, body)
        key("next")
        if let next { value(next) } else { null() }
        endObject()
    }
}
