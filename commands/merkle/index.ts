/** `svc merkle`: from a CSV of recipients, or the tree of another tool, to a tree and its proofs, and the differences between two lists. */
import type { Noun } from '../cli/command.ts'
import { buildTreeOfCsv } from './build.ts'
import { diff } from './diff.ts'
import { importTree } from './import.ts'
import { proof } from './proof.ts'
import { getTreeVerb, listTreeEntries, listTrees } from './stored.ts'
import { verifyTree } from './verify.ts'

export const merkleNoun: Noun = {
  verbs: {
    build: buildTreeOfCsv,
    verify: verifyTree,
    proof,
    import: importTree,
    diff,
    list: listTrees,
    get: getTreeVerb,
    entries: listTreeEntries,
  },
}
