import Hummingbird
import TenureAPI
import TenureJSON

/// Reads which page of a list a request to the admin API asks for.
extension Request {
    /// Returns the query parameter `limit`, the maximum number of objects in a page; 100 if it's missing. Throws
    /// `malformedRequest` if it isn't a number from 1 to 500.
    func pageSize() throws(Problem) -> Int {
        guard let text = uri.queryParameters["limit"] else { return 100 }
        guard let number = Int(text), (1...500).contains(number) else {
            throw Problem(.malformedRequest, "`limit` must be a whole number from 1 to 500")
        }
        return number
    }

    /// Returns the query parameter with this name: the position from which the list continues. Nil for the first page,
    /// if the parameter is missing. Throws `malformedRequest` if it isn't a positive number.
    ///
    /// - Parameter field: The field with this position in the response with the previous page, for the error message.
    func position(_ name: String, from field: String) throws(Problem) -> Int64? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Int64(text), number > 0 else {
            throw Problem(.malformedRequest, "`\(name)` must be the `\(field)` of the previous page")
        }
        return number
    }
}

extension JSONWriter {
    /// Writes a page of a list of objects.
    ///
    /// - Parameters:
    ///   - name: The name of the list's field.
    ///   - next: The position from which the following page continues; nil on the last page.
    ///   - fields: Writes the fields of one object.
    mutating func page<Element>(
        _ name: String, of elements: some Collection<Element>, next: Int64?,
        _ fields: (inout JSONWriter, Element) -> Void
    ) {
        object { json in
            json.objects(name, elements, fields)
            json.field("next", orNull: next)
        }
    }
}
