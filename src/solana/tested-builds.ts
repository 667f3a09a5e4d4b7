/** The builds of programs that the tests of this version run: SHA-256 without trailing zeros, as `solana-verify` prints it. */
import { PROGRAMS } from './programs.ts'

export const TESTED_BUILDS: Readonly<Record<string, readonly string[]>> = {
  [PROGRAMS.dbc.id]: ['1824be42a107b6c8ab63a6ea5a4272f450af6bb07f4d06f07a30352b8b385caa'],
  [PROGRAMS.dammV2.id]: ['bfc040203bfffd3c7e0928457ace31433c6ef88eed36fecc693f6bd5412c0bbd'],
  [PROGRAMS.tokenMetadata.id]: ['ddb0df2b6f6dc1ba19d9da8e2c0f7f1c25c3d1bcb28d456a0088798eb4465900'],
  [PROGRAMS.core.id]: ['cf06954a10fcbfe701c86823cb5c54cf760578c68b62aea0406d3afaec7ac6b6'],
  [PROGRAMS.lock.id]: ['dbde6095550d627d24ab17c8c26872bae1c56a0c7d94ae68f09838ac7d066ea5'],
  [PROGRAMS.distributor.id]: ['dac89f5cc241cb2cb7070db8b59063662f10f7cd125def05cbb6d288efc0c196'],
  [PROGRAMS.squads.id]: ['d48660833989ecea3145ff726164fe640bd90696f03ce00dfd0cda258cbf2fac'],
  [PROGRAMS.presale.id]: ['94036560d47f22f3bbdc9fed3afd710df13f4c6b0840a1d3335c69c20ca55a45'],
  [PROGRAMS.lighthouse.id]: ['b70084e0d1de4a551c2bf9740a9b5012600edb98b56fd84065f0e8f47762529a'],
}
