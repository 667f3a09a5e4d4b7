/** Creates LiteSVM runtimes whose default programs are verified and compiled at their first use. */
import type { Account, FeatureSet, LiteSvm } from 'litesvm/dist/internal.js'
import { addressBytes, addressOf } from '../solana/addresses.ts'
import {
  FEATURE_PROGRAM,
  LOADERS,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../solana/program-ids.ts'
import { LOADER } from '../solana/programs/upgradeable-loader.ts'

type Native = typeof import('litesvm/dist/internal.js')
type Addressed = readonly [address: Uint8Array, account: Account]

/** The accounts of a default program: that with its bytes comes before that which is executable. */
type DefaultProgram = readonly Addressed[]

interface Defaults {
  features: FeatureSet
  /** Those of the features, and the mints of wrapped SOL. */
  accounts: readonly Addressed[]
  programs: readonly DefaultProgram[]
}

/** Read once for each process, because LiteSVM's own constructor takes 15 ms, nearly all of it for the programs. */
let defaults: Defaults | undefined

/**
 * Returns a runtime with the mints of wrapped SOL, like that of LiteSVM's constructor, but without its faucet, and
 * without its default programs, which are returned beside it.
 */
export function newRuntime(native: Native): { svm: LiteSvm; programs: readonly DefaultProgram[] } {
  defaults ??= readDefaults(native)
  const svm = native.LiteSvm.default()
  svm.setFeatureSet(defaults.features)
  svm.setBuiltins()
  svm.setSysvars()
  for (const [address, account] of defaults.accounts) svm.setAccount(address, account)
  svm.setPrecompiles()
  svm.setSigverify(true)
  return { svm, programs: defaults.programs }
}

function readDefaults(native: Native): Defaults {
  const svm = new native.LiteSvm()
  svm.withNativeMints()
  const ownedBy = (program: string): Addressed[] =>
    svm.getProgramAccounts(addressBytes(program)).map((found) => [found.address, found.account()])
  const features = new native.FeatureSet()
  const featureAccounts = ownedBy(FEATURE_PROGRAM)
  for (const [address, account] of featureAccounts) {
    // A tag of one byte, and the slot since which the feature is active.
    features.activate(address, Buffer.from(account.data()).readBigUInt64LE(1))
  }
  const programs = LOADERS.flatMap((loader) =>
    ownedBy(loader)
      .filter(([, account]) => account.executable())
      .map((program): DefaultProgram => {
        if (loader !== UPGRADEABLE_LOADER) return [program]
        const found = LOADER.decode('program', { owner: loader, data: program[1].data() })
        const bytes = found && addressBytes(found.program_data)
        const account = bytes && svm.getAccount(bytes)
        if (bytes === null || account === null)
          throw new Error(`Program ${addressOf(program[0])} has no account with its bytes`)
        return [[bytes, account], program]
      }),
  )
  const accounts = [...featureAccounts, ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM].flatMap(ownedBy)]
  return { features, accounts, programs }
}
