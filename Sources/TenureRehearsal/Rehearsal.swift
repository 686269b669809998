/// What a policy would do to everybody whose evidence is known.
package struct Rehearsal: Sendable {}
