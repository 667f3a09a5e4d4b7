/** Whether a program runs the command instead of a person: then nothing is asked, coloured or animated. */

/**
 * `CI` is set by continuous integration (`false` and `0` mean none), and `NO_DNA` by a program that acts for somebody,
 * whatever its value (no-dna.org).
 */
export const isUnattended = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !['', '0', 'false'].includes(env.CI ?? '') || Boolean(env.NO_DNA)
