import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The keywords of JSON Schema (2020-12) that the OpenAPI document uses. Any other keyword is a mistake.
struct JSONSchema {
    let document: JSONValue

    /// Returns the mistakes of a value under a schema, with their places; empty for a valid value.
    func mistakes(of value: JSONValue, under schema: JSONValue, at place: String = "$") -> [String] {
        guard case .object(let schema) = schema else { return ["\(place): its schema is no object"] }
        if case .string(let reference)? = schema["$ref"] {
            guard let target = resolve(reference) else { return ["\(place): there is no \(reference)"] }
            return mistakes(of: value, under: target, at: place)
        }
        return schema.members.flatMap { member in
            mistakes(of: value, under: member.name, member.value, of: schema, at: place)
        }
    }

    /// Returns the schema for a reference such as `#/components/schemas/Customer`.
    func resolve(_ reference: String) -> JSONValue? {
        reference.split(separator: "/").dropFirst().reduce(document) { value, name -> JSONValue? in
            guard case .object(let object)? = value else { return nil }
            return object[String(name)]
        }
    }

    private func mistakes(
        of value: JSONValue, under word: String, _ argument: JSONValue, of schema: JSONObject, at place: String
    ) -> [String] {
        switch (word, argument, value) {
        case ("description", _, _), ("title", _, _): []
        case ("type", .string(let name), _): is_(value, name) ? [] : ["\(place): it is no \(name)"]
        case ("type", .array(let names), _):
            names.contains { if case .string(let name) = $0 { is_(value, name) } else { false } }
                ? [] : ["\(place): it has another type"]
        case ("const", _, _): value == argument ? [] : ["\(place): it isn't what it always is"]
        case ("enum", .array(let values), _):
            values.contains(value) ? [] : ["\(place): it isn't one of the known values"]
        case ("format", .string("date-time"), .string(let text)):
            Date(written: text) == nil || !text.contains("T") ? ["\(place): `\(text)` isn't an instant"] : []
        case ("format", .string("uuid"), .string(let text)):
            UUID(uuidString: text) == nil ? ["\(place): it isn't a UUID"] : []
        case ("format", _, _): []
        case ("minLength", .number(let count), .string(let text)):
            text.count < Int(count) ?? 0 ? ["\(place): it is too short"] : []
        case ("maxLength", .number(let count), .string(let text)):
            text.count > Int(count) ?? 0 ? ["\(place): it is too long"] : []
        case ("minimum", .number(let bound), .number(let number)):
            Double(number) ?? 0 < Double(bound) ?? 0 ? ["\(place): it is too small"] : []
        case ("maximum", .number(let bound), .number(let number)):
            Double(number) ?? 0 > Double(bound) ?? 0 ? ["\(place): it is too large"] : []
        case ("minItems", .number(let count), .array(let elements)):
            elements.count < Int(count) ?? 0 ? ["\(place): it has too few elements"] : []
        case ("maxItems", .number(let count), .array(let elements)):
            elements.count > Int(count) ?? 0 ? ["\(place): it has too many elements"] : []
        case ("items", _, .array(let elements)):
            elements.enumerated().flatMap { mistakes(of: $1, under: argument, at: "\(place)[\($0)]") }
        case ("required", .array(let names), .object(let object)):
            names.compactMap { name in
                guard case .string(let name) = name, object[name] == nil else { return nil }
                return "\(place): `\(name)` is missing"
            }
        case ("properties", .object(let properties), .object(let object)):
            properties.members.flatMap { property in
                object[property.name].map { mistakes(of: $0, under: property.value, at: "\(place).\(property.name)") }
                    ?? []
            }
        case ("additionalProperties", _, .object(let object)):
            object.members.filter { member in
                guard case .object(let properties)? = schema["properties"] else { return true }
                return properties[member.name] == nil
            }.flatMap { member -> [String] in
                if argument == .boolean(false) { return ["\(place): `\(member.name)` isn't in the document"] }
                if argument == .boolean(true) { return [] }
                return mistakes(of: member.value, under: argument, at: "\(place).\(member.name)")
            }
        case ("oneOf", .array(let schemas), _):
            schemas.count { mistakes(of: value, under: $0, at: place).isEmpty } == 1
                ? [] : ["\(place): it isn't exactly one of what it may be"]
        case ("anyOf", .array(let schemas), _):
            schemas.contains { mistakes(of: value, under: $0, at: place).isEmpty }
                ? [] : ["\(place): it is nothing of what it may be"]
        case ("allOf", .array(let schemas), _): schemas.flatMap { mistakes(of: value, under: $0, at: place) }
        case ("minLength", _, _), ("maxLength", _, _), ("minimum", _, _), ("maximum", _, _), ("minItems", _, _),
            ("maxItems", _, _), ("items", _, _), ("required", _, _), ("properties", _, _),
            ("additionalProperties", _, _):
            // These keywords don't apply to the type of this value.
            []
        default: ["\(place): its schema has `\(word)`, which this test doesn't check"]
        }
    }

    private func is_(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("number", .number), ("boolean", .boolean),
            ("null", .null):
            true
        case ("integer", .number(let digits)): Int(digits) != nil
        default: false
        }
    }
}
