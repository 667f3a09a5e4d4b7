/** Tells whether a program runs the command instead of a person; then there are no questions, colours or animations. */

/**
 * Continuous integration sets `CI` (`false` and `0` mean no). A program that acts for a person sets `NO_DNA` to any
 * value (no-dna.org).
 */
export const isUnattended = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !['', '0', 'false'].includes(env.CI ?? '') || Boolean(env.NO_DNA)
