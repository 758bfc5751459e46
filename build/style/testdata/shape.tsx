export function View(props: { name: string }) {
  const inner = () => {
    return <p>don't {props.name}</p>;
  };

  return inner();
}
const short = <T,>(x: T): T => x;

class Box {
  method() {
    return [1].map((x) => x + 1);
  }
  #hidden = async () =>
    short(1);
}

const object = {
  shorthand() {
    return 1;
  },
  get getter() {
    return 1;
  },
  held: async () => {
    await 1;

    return 1;
  },
};
const named = (value: unknown): value is Record<string, number> => {
  const module: typeof import("./shape.tsx") | undefined = undefined;

  return value !== module;
};
export { object, type Box as Kind };
export type { Box };
