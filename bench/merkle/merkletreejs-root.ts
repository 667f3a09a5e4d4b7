/** Measured as a process: the same CSV to the same root with the usual packages, merkletreejs and @scure/base. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { base58 } from '@scure/base'
import { MerkleTree } from 'merkletreejs'

const sha256 = (...parts: Uint8Array[]) => {
  const hasher = createHash('sha256')
  for (const part of parts) hasher.update(part)
  return hasher.digest()
}
const [zero, one, unlocked] = [Buffer.from([0]), Buffer.from([1]), Buffer.alloc(8)]

const leaves = readFileSync(process.argv[2]!, 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [wallet = '', amount = ''] = line.split(',')
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(amount))
    return sha256(zero, sha256(base58.decode(wallet), bytes, unlocked))
  })
const tree = new MerkleTree(leaves, (data: Buffer) => sha256(one, data), { sortPairs: true, duplicateOdd: true })
process.stdout.write(tree.getRoot().toString('hex'))
