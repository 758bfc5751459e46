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
