"""A synthetic column of job titles as people type them: 470 spellings of 147 titles."""

import random
import string

_TITLES = """Accountant, Actor, Administrator, Agricultural worker, Anaesthetist, Archaeologist, Architect, Assembler,
Assistant manager, Auditor, Baker, Banker, Barber, Bartender, Biologist, Bookkeeper, Bricklayer, Bus driver, Butcher, Buyer,
Cab driver, Cardiologist, Caretaker, Carpenter, Cashier, Chef, Chemist, Civil engineer, Cleaner, Clerk, Consultant, Cook,
Crane operator, Customer adviser, Dental assistant, Dentist, Designer, Dietician, Dispatcher, Doctor, Driver, Diver, Economist,
Editor, Electrician, Engineer, Estate agent, Farmer, Financial analyst, Firefighter, Fisherman, Fitter, Florist, Forester, Framer,
Gardener, Geologist, Glazier, Graphic designer, Hairdresser, Head of purchasing, Head of sales, Hematologist, Hepatologist,
Hotel manager, Housekeeper, Insurance broker, Interpreter, Janitor, Jeweller, Joiner, Journalist, Judge, Laboratory technician,
Labourer, Lawyer, Lecturer, Librarian, Locksmith, Machinist, Manager, Marketing manager, Mason, Mechanic, Mechanical engineer,
Midwife, Miller, Miner, Model maker, Musician, Nephrologist, Neurologist, Nurse, Nurse assistant, Nursery teacher, Optician,
Painter, Paramedic, Pharmacist, Photographer, Physicist, Physiotherapist, Pilot, Plasterer, Plumber, Policeman, Policewoman,
Porter, Postman, Printer, Programmer, Project manager, Psychiatrist, Psychologist, Radiologist, Receptionist, Reporter, Researcher,
Roofer, Sailor, Sales assistant, Sales manager, Scientist, Secretary, Security guard, Singer, Signer, Social worker, Software developer,
Surgeon, Surveyor, Tailor, Tax adviser, Teacher, Teaching assistant, Technician, Trainer, Translator, Truck driver, Upholsterer,
Urologist, Veterinarian, Waiter, Warehouse worker, Watchmaker, Welder, Writer"""  # noqa: E501


def job_titles(seed: int = 1, spellings: int = 470) -> tuple[dict[str, int], dict[str, str]]:
    """So many spellings with their records, and the title that was meant by each.

    Three of four mistyped values have one slip, the others two or another case; a slip is at a
    letter drawn at random. Each mistyped value has one or two records, titles from 5 to 300.
    """
    draw = random.Random(seed)
    titles = [" ".join(title.split()) for title in _TITLES.split(",")]
    counts = {title: int(300 / (1 + place) ** 0.6) + 5 for place, title in
              enumerate(draw.sample(titles, len(titles)))}  # fmt: skip
    meant = {title: title for title in titles}
    while len(meant) < spellings:
        title = draw.choices(titles, [counts[title] for title in titles])[0]
        kind = draw.random()
        written = _slip(title, draw) if kind < 0.9 else draw.choice([title.upper(), title.lower()])
        written = _slip(written, draw) if 0.75 <= kind < 0.9 else written
        if written not in meant:
            meant[written], counts[written] = title, draw.choice([1, 1, 2])
    return counts, meant


def _slip(title: str, draw: random.Random) -> str:
    """The title with a letter wrong, missing, too many, or swapped with the next one."""
    place = draw.choice([at for at, mark in enumerate(title[:-1]) if mark.isalpha()])
    letter, before, after = draw.choice(string.ascii_lowercase), title[:place], title[place + 1 :]
    return draw.choice([
        before + letter + after, before + after, before + letter + title[place:],
        before + after[:1] + title[place] + after[1:],
    ])  # fmt: skip
