import { type OpenedStorage, storageCases } from 'plant-store/testing';

/** Runs the storage cases and prints the failures. Each runtime and driver runs this in its own program. */
export async function report(open: () => Promise<OpenedStorage<unknown>>): Promise<void> {
  const failed: string[] = [];
  const cases = storageCases(open);
  for (const { id, run } of cases) await run().catch((error) => failed.push(`${id}: ${error.message}`));
  console.log(JSON.stringify({ cases: cases.length, failed }));
  process.exit(0);
}
