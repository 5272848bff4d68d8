"""`python -m unitcost` is `unitcost`."""

from unitcost.cli import main

if __name__ == "__main__":
    main()
