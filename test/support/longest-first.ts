import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Lets vitest begin with these files, in this order. It would begin with the largest, and what takes longest might run alone at the end.
 *
 * @param names what takes longest first, as the ends of paths
 */
export function longestFirst(names: readonly string[]): typeof BaseSequencer {
  const place = ({ moduleId }: TestSpecification) => {
    const found = names.findIndex((name) => moduleId.endsWith(`/${name}.ts`));
    return found < 0 ? names.length : found;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => place(a) - place(b));
    }
  };
}
