/** The error of everything that Squads' accounts and messages can be wrong about. */

/** Bytes that are not what they should be, or a message that a vault cannot execute. `message` is a sentence. */
export class SquadsFault extends Error {
  override readonly name = 'SquadsFault'
}
