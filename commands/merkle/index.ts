/** `svc merkle`: from a CSV of recipients to a tree, its proofs, and what changed between two lists. */
import type { Noun } from '../command.ts'
import { build } from './build.ts'
import { diff } from './diff.ts'
import { proof } from './proof.ts'
import { entries, get, list } from './stored.ts'
import { verify } from './verify.ts'

export const merkleNoun: Noun = { verbs: { build, verify, proof, diff, list, get, entries } }
